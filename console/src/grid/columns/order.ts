export interface Sort {
  readonly field: string;
  readonly isDescending: boolean;
}

/** Parses an `order` parameter: `-createdAt,Name`. */
export function parseOrder(order: string): readonly Sort[] {
  const seen = new Set<string>();
  return order
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '' && part !== '-')
    .map((part) => (part.startsWith('-') ? { field: part.slice(1), isDescending: true } : { field: part, isDescending: false }))
    .filter(({ field }) => !seen.has(field) && seen.add(field));
}

export const orderText = (sorts: readonly Sort[]) =>
  sorts.map(({ field, isDescending }) => `${isDescending ? '-' : ''}${field}`).join(',');

/** Returns the order after a click on a header: ascending, descending, none. @param isAdded whether the other fields stay */
export function toggled(sorts: readonly Sort[], field: string, isAdded: boolean): readonly Sort[] {
  const present = sorts.find((sort) => sort.field === field);
  const next: Sort | null = !present
    ? { field, isDescending: false }
    : present.isDescending
      ? null
      : { field, isDescending: true };
  if (!isAdded) return next ? [next] : [];
  if (!present) return [...sorts, { field, isDescending: false }];
  return sorts.flatMap((sort) => (sort === present ? (next ?? []) : sort));
}
