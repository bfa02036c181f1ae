/** A step of the database's plan, in names of the interface. */
export interface PlanStep {
  /**
   * `search`: an index leads to the records. `scan`: all records of a table, or of an index, in its order. `sort`: found records are sorted. `other`:
   * anything else, in the words of `about`.
   */
  readonly kind: 'search' | 'scan' | 'sort' | 'other';
  /** Class of the table, or `Table.Field` for the members of a Relation. */
  readonly table?: string;
  /** Whether it is the table of the query itself, and not one of a sub-query. */
  readonly isMain?: boolean;
  /** As the schema names it; `~Field` for an index that every table has for the field. */
  readonly index?: string;
  /** Fields whose conditions the index answers. */
  readonly fields?: readonly string[];
  readonly about?: string;
  /** Of a sort: records come in the order of the first fields, and those with equal values are sorted. */
  readonly isPartial?: true;
}

/** How a database would run a query. */
export interface QueryPlan {
  readonly steps: readonly PlanStep[];
  /** The planner's cost of the whole query, in page reads; left out by an engine that has none. */
  readonly cost?: number;
}

/** Returns a step in words. @param records number of records of the table, for a scan */
export function stepText({ kind, table = '', index, fields = [], about, isPartial }: PlanStep, records?: string): string {
  const named = index === undefined ? '' : index.startsWith('~') ? `the index of ${index.slice(1)}` : `index ${index}`;
  const by = fields.length === 0 ? '' : ` (${fields.join(', ')})`;
  switch (kind) {
    case 'search':
      return `search of ${table}${named && ` by ${named}`}${by}`;
    case 'scan':
      return `scan of all ${records === undefined ? '' : `${records} `}records of ${table}${named && ` in the order of ${named}`}`;
    case 'sort':
      return isPartial ? 'sort of the results with equal values' : 'sort of the results';
    case 'other':
      return about ?? 'another step';
  }
}
