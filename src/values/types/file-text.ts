// A File or PrivateFile as JSON text: as it is stored, without its address, and as answers show it.

/** What the address of a column's files is made of. Plain data, so that it can cross to a reader thread. */
export interface FileForm {
  /** What stands before the name. No slash at the end. */
  readonly address: string;
  /** PrivateFile: the place in the record, which the address goes on with. */
  readonly holder?: { readonly className: string; readonly fieldName: string; readonly idAt: number };
}

/** The flags that a File has. */
export type FileFlag = 'public' | 'private';

const opening = '{"__type":"File","name":"';
const closings: Readonly<Record<FileFlag, string>> = { public: '","public":true}', private: '","private":true}' };

/** The stored form. */
export function storedFile(name: string, flag: FileFlag): string {
  return JSON.stringify({ __type: 'File', name, [flag]: true });
}

/** What stands before and after the name in the stored form, and what the shown form has between the name and the address. */
export const publicFileText = { opening, between: '","url":"', closing: closings.public } as const;

/**
 * Writes stored files as answers show them, with their `url` (SPEC "Files"). What is not the stored form (earlier versions kept what was
 * sent) stays as it is.
 * @returns given the stored text and the row that it is in, the JSON text
 */
export function fileWriter({ address, holder }: FileForm): (stored: string, row: readonly unknown[]) => string {
  const closing = closings[holder ? 'private' : 'public'];
  const before = `${publicFileText.between}${inJson(address)}/`;
  return (stored, row) => {
    const end = stored.length - closing.length;
    // A name that no quote ends early is one that may be copied.
    const isKnown = stored.startsWith(opening) && stored.endsWith(closing) && stored.indexOf('"', opening.length) === end;
    if (!isKnown) return stored;
    const name = stored.slice(opening.length, end);
    const place = holder ? `/${holder.className}/${encodeURIComponent(row[holder.idAt] as string)}/${holder.fieldName}` : '';
    return opening + name + before + name + place + closing;
  };
}

/** A text as it stands inside a JSON text. */
export function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
