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
