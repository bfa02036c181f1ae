import { prefix } from '../../kernel/prefix.ts';
import { CONSOLE } from '../context/addresses.ts';

/** Characters of what leads back; the address of a private file has its names in it. */
const MAX_RETURN_LENGTH = 8_000;

/** Where a sign-in leads back to. */
export interface ReturnTarget {
  /** Path and query, of the console's own origin. */
  readonly path: string;
  readonly appId: string;
  /** What a private file is of; `null` where it leads to the console. */
  readonly file: PrivateFileAddress | null;
}

/** The parts of the address of a private file (SPEC "Files"). */
export interface PrivateFileAddress {
  readonly name: string;
  readonly className: string;
  readonly objectId: string;
  readonly field: string;
}

/** Where the console is. */
export interface Place {
  readonly origin: string;
  /** Path that the service stands at. */
  readonly basePath: string;
}

/**
 * Takes a `returnTo` where it is of this origin and below the console or the private files (CONTRACT "Console").
 * @returns `null` for any other, which is dropped
 */
export function readReturnTo(sent: string | undefined, { origin, basePath }: Place): ReturnTarget | null {
  if (sent === undefined || sent.length > MAX_RETURN_LENGTH || !isPlain(sent)) return null;
  const url = URL.parse(sent, origin);
  if (!url || url.origin !== origin || url.username !== '' || url.password !== '') return null;
  const segments = segmentsOf(url.pathname, basePath);
  const target = segments && targetOf(segments);
  return target ? { ...target, path: url.pathname + url.search } : null;
}

/** An address, or a path. What browsers read in a way of their own is none: `//host`, `/\host`, control characters. */
const isPlain = (text: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  /^(?:https?:\/\/[^/]|\/(?!\/))/i.test(text) && !/[\\\u0000-\u0020\u007f]/.test(text);

/** The decoded segments of a path below the service's; `null` where it is not below. */
function segmentsOf(pathname: string, basePath: string): string[] | null {
  if (!pathname.startsWith(`${basePath}/`)) return null;
  try {
    return pathname
      .slice(basePath.length + 1)
      .split('/')
      .map(decodeURIComponent);
  } catch {
    return null;
  }
}

function targetOf([first, second, ...rest]: readonly string[]): Omit<ReturnTarget, 'path'> | null {
  if (`/${first}` === CONSOLE) return rest.length > 0 && second && second !== '-' ? { appId: second, file: null } : null;
  const [appId, name, className, objectId, field, ...more] = rest;
  if (`/${first}` !== prefix || second !== 'files' || !appId || !name) return null;
  if (!className || !objectId || !field || more.length > 0) return null;
  return { appId, file: { name, className, objectId, field } };
}
