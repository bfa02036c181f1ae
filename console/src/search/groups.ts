/** Results of one table, in the order of the answer. */
export interface Group<T> {
  readonly table: string;
  readonly results: readonly T[];
}

/** Groups results by table; tables in the order of their first result. */
export function groupsOf<T extends { readonly table: string }>(results: readonly T[]): readonly Group<T>[] {
  const groups = new Map<string, T[]>();
  for (const result of results) {
    const own = groups.get(result.table);
    if (own) own.push(result);
    else groups.set(result.table, [result]);
  }
  return [...groups].map(([table, own]) => ({ table, results: own }));
}

/** Splits a text into parts that match the query and parts that do not. */
export function parts(text: string, query: string): readonly { readonly text: string; readonly isMatch: boolean }[] {
  const words = query
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  if (words.length === 0) return [{ text, isMatch: false }];
  return text
    .split(new RegExp(`(${words.join('|')})`, 'giu'))
    .map((part, index) => ({ text: part, isMatch: index % 2 === 1 }))
    .filter((part) => part.text);
}
