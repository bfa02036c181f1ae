import { type Column, logTableOf, ownColumns, ownValues } from '../../audit/index.ts';
import { fieldOf, type Schema } from '../../schema/model.ts';
import { copyFields, secretFieldsOf } from '../../schema/system-tables.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import type { Mutation } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import type { TriggerEvent, TriggeringRecord } from './model.ts';

const className = '_syslogTriggers';

/** Characters of a row's `data` (docs/decisions.md "Triggers"). */
const MAX_DATA_LENGTH = 100_000;
/** Characters of an error's text. */
const MAX_ERROR_LENGTH = 10_000;

/** The columns of a row, in the order of its values: one statement for all rows. */
const columns: readonly Column[] = [
  ...ownColumns,
  ['triggerId', 'String'],
  ['actionId', 'String'],
  ['event', 'String'],
  ['objectIdValue', 'String'],
  ['data', 'String'],
  ['error', 'String'],
];

const logOf = logTableOf(className, columns);

/** A row of `_syslogTriggers` (SPEC "`_syslogTriggers` fields"). */
export interface LoggedRun {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly triggerId: string;
  /** `null`: the trigger fired. */
  readonly actionId: string | null;
  readonly event: TriggerEvent;
  /** Of the record; left out where the row is about none. */
  readonly className?: string;
  readonly objectId: string;
  /** `dataOf` the record. */
  readonly data: string | null;
  /** Plain text; the row has it as a JSON string. */
  readonly error: string | null;
  /** Of the error, as `Sources` has them. */
  readonly sources?: string | null;
}

/** The step that adds a row; none where the table cannot hold it. Pure. */
export function logRow(schema: Schema, row: LoggedRun): readonly Mutation[] {
  const log = logOf(schema);
  if (!log) return [];
  const given: readonly StoredValue[] = [
    ...ownValues(row.at, row.id),
    row.triggerId,
    row.actionId,
    row.event,
    row.objectId,
    row.data,
    row.error === null ? null : errorText(row.error),
  ];
  const values = log.fields.map((field, at) => [field, given[at] as StoredValue] as const);
  const { className: classField, sources: sourcesField } = copyFields;
  for (const [name, value] of [
    [classField, row.className ?? null],
    [sourcesField, row.sources ?? null],
  ] as const) {
    const field = log.table.fields.get(name);
    if (field?.type === 'String') values.push([field, value]);
  }
  return [{ kind: 'insert', table: log.table, values, isNote: true }];
}

/** The step that changes the error of a row, where it is still there. Pure. @param error plain text; `null` for none */
export function logError(schema: Schema, id: string, error: string | null): readonly Mutation[] {
  const log = logOf(schema);
  if (!log) return [];
  const { table } = log;
  return [
    {
      kind: 'updateAll',
      table,
      filter: { kind: 'compare', field: fieldOf(table, 'objectId'), op: 'eq', value: id },
      assignments: assignmentsOf(table, { error: error === null ? null : errorText(error) }),
    },
  ];
}

/** JSON text of a record, for `data`: bounded, the longest values left out first (docs/decisions.md "Triggers"). */
export function dataOf({ className: table, fields }: TriggeringRecord): string {
  const secret = secretFieldsOf(table);
  const open = secret.size === 0 ? fields : Object.fromEntries(Object.entries(fields).filter(([name]) => !secret.has(name)));
  const whole = JSON.stringify(open);
  if (whole.length <= MAX_DATA_LENGTH) return whole;
  const members = Object.entries(open).map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  let length = whole.length;
  const leftOut = new Set<string>();
  for (const member of members.toSorted((one, other) => other.length - one.length)) {
    if (length <= MAX_DATA_LENGTH) break;
    leftOut.add(member);
    length -= member.length + 1;
  }
  return `{${members.filter((member) => !leftOut.has(member)).join()}}`;
}

/** JSON writes NUL and halves of characters as escapes, so that every text can be stored. */
function errorText(error: string): string {
  return JSON.stringify(error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH)}…` : error);
}
