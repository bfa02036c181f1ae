import { escapeJson } from '../../kernel/json.ts';

// JSON text of a File or PrivateFile: the stored form, without its URL, and the form of answers.

/** The parts of the URLs of a column's files. Plain data, so that it can be sent to a reader thread. */
export interface FileForm {
  /** The URL before the name. No slash at the end. */
  readonly address: string;
  /** PrivateFile: the place in the record, with which the URL continues. */
  readonly holder?: { readonly className: string; readonly fieldName: string; readonly idAt: number };
}

/** The flags of a File. */
export type FileFlag = 'public' | 'private';

const opening = '{"__type":"File","name":"';
const closings: Readonly<Record<FileFlag, string>> = { public: '","public":true}', private: '","private":true}' };

/** Returns the stored form. */
export function storedFile(name: string, flag: FileFlag): string {
  return JSON.stringify({ __type: 'File', name, [flag]: true });
}

/** What surrounds the name in the stored form, and what the answer has between name and URL. */
export const publicFileText = { opening, between: '","url":"', closing: closings.public } as const;

/**
 * Returns a function that writes stored files as answers show them, with their `url`. Text that does not have the stored form (earlier versions
 * kept what was sent) is returned unchanged. Reference: types.md#file.
 * @returns a function of the stored text and its row that returns the JSON text
 */
export function fileWriter({ address, holder }: FileForm): (stored: string, row: readonly unknown[]) => string {
  const closing = closings[holder ? 'private' : 'public'];
  const before = `${publicFileText.between}${escapeJson(address)}/`;
  return (stored, row) => {
    const end = stored.length - closing.length;
    // A name without quotes inside can be copied as JSON text.
    const isKnown = stored.startsWith(opening) && stored.endsWith(closing) && stored.indexOf('"', opening.length) === end;
    if (!isKnown) return stored;
    const name = stored.slice(opening.length, end);
    const place = holder ? `/${holder.className}/${encodeURIComponent(row[holder.idAt] as string)}/${holder.fieldName}` : '';
    return opening + name + before + name + place + closing;
  };
}
