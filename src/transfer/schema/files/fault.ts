import { OperatorError } from '../../../kernel/operator-error.ts';
import { parts, type SnapshotFault } from '../model/snapshot.ts';

/** Where in the files of a snapshot a fault is. */
interface FilePlace {
  /** Relative to the directory. */
  readonly file: string;
  /** Keys inside the file. */
  readonly inside: readonly string[];
}

/** Returns the file of a place in a snapshot: tables have one each, other parts one, and the rest is in `schema.json`. */
export function filePlaceOf(path: readonly string[]): FilePlace {
  const [part = '', table, ...rest] = path;
  if (part === 'tables' && table !== undefined) return { file: `tables/${table}.json`, inside: rest };
  if (parts.some((one) => one === part)) return { file: `${part}.json`, inside: path.slice(1) };
  return { file: 'schema.json', inside: path };
}

/** Returns a fault of a snapshot that was read from a directory, with its file. @param lineIn the line of a place in a file, if it is known */
export function faultOfDirectory(
  { path, message }: Pick<SnapshotFault, 'path' | 'message'>,
  lineIn: (place: FilePlace) => number | null = () => null,
): OperatorError {
  if (path.length === 0) return new OperatorError(oneLine(message));
  const place = filePlaceOf(path);
  const line = lineIn(place);
  const inside = place.inside.length === 0 ? message : `${place.inside.join('.')} ${message}`;
  return new OperatorError(oneLine(`${place.file}: ${inside}${line === null ? '' : ` (line ${line})`}`));
}

/** Names come from outside. */
const oneLine = (text: string): string => text.replace(/\p{C}/gu, '?');
