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
    const equals = part.indexOf('=');
    if (equals < 0) parameters.set(decode(part), '');
    else parameters.set(decode(part.slice(0, equals)), decode(part.slice(equals + 1)));
  }
  return parameters;
}

function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
