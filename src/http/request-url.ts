import { prefix } from '../kernel/prefix.ts';

const none: ReadonlyMap<string, string> = new Map();

/**
 * Query parameters by name, as HTML forms encode them: `+` is a space (SPEC "Query parameters"). Of a repeated name the last counts;
 * what is no valid escape is kept as it stands.
 */
export function parseQueryString(text: string): ReadonlyMap<string, string> {
  if (text === '') return none;
  const parameters = new Map<string, string>();
  for (const part of text.split('&')) {
    if (part === '') continue;
    const [name, value] = decodePair(part, decodePercents);
    parameters.set(name, value);
  }
  return parameters;
}

function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The name and the value of one part of a form or query.
 * @param decodePercents is called with texts that hold `%`
 */
export function decodePair(part: string, decodePercents: (text: string) => string): readonly [name: string, value: string] {
  const equals = part.indexOf('=');
  if (equals < 0) return [decodeText(part, decodePercents), ''];
  return [decodeText(part.slice(0, equals), decodePercents), decodeText(part.slice(equals + 1), decodePercents)];
}

function decodeText(text: string, decodePercents: (text: string) => string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  return spaced.includes('%') ? decodePercents(spaced) : spaced;
}

/** Paths whose names are anything, so that a `%` may be one of their letters. */
const named: readonly string[] = [`${prefix}/files/`, '/static/'];
const barePercent = /%(?![0-9a-f]{2})/gi;

/**
 * The address of a request as it is routed. SPEC "Query parameters": an unencoded `#` ends it, wherever it was not already cut off by the
 * client. SPEC "Files" rule 2: in the path of a file a `%` that encodes nothing is itself.
 */
export function addressOf(url: string): string {
  const end = url.indexOf('#');
  const address = end < 0 ? url : url.slice(0, end);
  if (!address.includes('%') || !named.some((start) => address.startsWith(start))) return address;
  const query = address.indexOf('?');
  const path = query < 0 ? address : address.slice(0, query);
  return path.replace(barePercent, '%25') + address.slice(path.length);
}
