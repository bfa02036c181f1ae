import { prefix } from '../../kernel/prefix.ts';
import { CONSOLE } from '../context/addresses.ts';

/** Maximum length in characters; the address of a private file contains several names. */
const MAX_RETURN_LENGTH = 8_000;

/** The target to which a sign-in returns. */
export interface ReturnTarget {
  /** Path and query on the console's origin. */
  readonly path: string;
  readonly appId: string;
  /** The private file of the target; `null` if it is a page of the console. */
  readonly file: PrivateFileAddress | null;
}

/** Parts of the address of a private file. Reference: files.md#private-files. */
export interface PrivateFileAddress {
  readonly name: string;
  readonly className: string;
  readonly objectId: string;
  readonly field: string;
}

/** The location of the console. */
export interface Place {
  readonly origin: string;
  /** Path prefix of the service. */
  readonly basePath: string;
}

/**
 * Validates a `returnTo`: it must be on this origin, below the console or the private files, so that it is no open redirect. Reference:
 * console.md#the-gate.
 * @returns `null` if it is invalid and must be ignored
 */
export function readReturnTo(sent: string | undefined, { origin, basePath }: Place): ReturnTarget | null {
  if (sent === undefined || sent.length > MAX_RETURN_LENGTH || !isUnambiguous(sent)) return null;
  const url = URL.parse(sent, origin);
  if (!url || url.origin !== origin || url.username !== '' || url.password !== '') return null;
  const segments = segmentsOf(url.pathname, basePath);
  const target = segments && targetOf(segments);
  return target ? { ...target, path: url.pathname + url.search } : null;
}

/** Whether a text is an unambiguous URL or path. Browsers interpret `//host`, `/\host` and control characters differently. */
const isUnambiguous = (text: string): boolean =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is refused
  /^(?:https?:\/\/[^/]|\/(?!\/))/i.test(text) && !/[\\\u0000-\u0020\u007f]/.test(text);

/** Returns the decoded segments of a path below the service's prefix; `null` if it is not below it. */
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
