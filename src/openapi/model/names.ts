/** Characters that an identifier of TypeScript and a key of OpenAPI components both may have. */
const foreign = /[^A-Za-z0-9_]+/g;

/** What the ids of operations begin with that are not of a table's own address. No table has such an identifier, so that the ids are unique. */
export const operationPrefixes = {
  functions: 'callFunction',
  users: 'service_users',
  roles: 'service_roles',
  sessions: 'service_sessions',
} as const;

/**
 * Returns an identifier for each table, unique regardless of case: some generators make a file of each.
 * @param classNames in the order in which names are given away
 */
export function identifiersOf(classNames: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>(Object.values(operationPrefixes).map((prefix) => prefix.toLowerCase()));
  const identifiers = new Map<string, string>();
  for (const className of classNames) {
    const spelt = className.replace(foreign, '_').replace(/^(?=[0-9]|$)/, '_');
    let identifier = spelt;
    for (let number = 2; taken.has(identifier.toLowerCase()); number++) identifier = `${spelt}_${number}`;
    taken.add(identifier.toLowerCase());
    identifiers.set(className, identifier);
  }
  return identifiers;
}

/** Orders texts by their UTF-16 code units, whatever the locale. */
export const byCodeUnits = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
