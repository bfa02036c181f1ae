import { fieldOf, type Schema } from '../../schema/model.ts';
import { copyFields, secretFieldsOf } from '../../schema/system-tables.ts';
import { assignmentsOf } from '../../storage/column-values.ts';
import { type Column, logTableOf, ownColumns, ownValues } from '../../storage/log-table.ts';
import type { Mutation } from '../../storage/port.ts';
import type { StoredValue } from '../../values/index.ts';
import type { TriggerEvent, TriggeringRecord } from './model.ts';

const className = '_syslogTriggers';

/** Maximum length of a row's `data` in characters. Reference: triggers.md#trigger-log. */
export const MAX_DATA_LENGTH = 100_000;
/** Maximum length of an error text in characters. */
export const MAX_ERROR_LENGTH = 10_000;

/** The columns of a row, in the order of its values. Fixed, so that one statement serves all rows. */
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

/** A row of `_syslogTriggers` (system-tables.md#_syslogtriggers). */
export interface LoggedRun {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly triggerId: string;
  /** `null`: the row records that the trigger fired. */
  readonly actionId: string | null;
  readonly event: TriggerEvent;
  /** The record's class; omitted if the row concerns no record. */
  readonly className?: string;
  readonly objectId: string;
  /** The record as `dataOf` returns it. */
  readonly data: string | null;
  /** Plain text; stored as a JSON string. */
  readonly error: string | null;
  /** Sources of the error text, as `Sources` formats them. */
  readonly sources?: string | null;
}

/** Returns the mutation that adds a row; none if the table cannot hold it. Pure. */
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

/** Returns the mutation that sets the error of a row, if the row exists. Pure. @param error plain text; `null` clears it */
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

/** Returns a record as JSON text for `data`. If it is too long, the longest values are omitted first. Reference: triggers.md#trigger-log. */
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

/** Stored as JSON, which escapes NUL and lone surrogates. */
function errorText(error: string): string {
  return JSON.stringify(error.length > MAX_ERROR_LENGTH ? `${error.slice(0, MAX_ERROR_LENGTH)}…` : error);
}
