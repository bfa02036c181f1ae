import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import type { TableSchema } from '../../schema/model.ts';
import { badArguments } from '../refusals.ts';

const operations = ['count', 'sum', 'avg', 'min', 'max'] as const;
type Operation = (typeof operations)[number];

/** A value computed per group. */
export interface Metric {
  readonly name: string;
  readonly op: Operation;
  readonly field?: string;
}

const EXPECTED = 'metrics: [{"op":"count|sum|avg|min|max","field":"<Field>","as":"<name>"}]; count alone takes no field';
const FORM = /^[A-Za-z][A-Za-z0-9_]{0,99}$/;
const known: ReadonlySet<string> = new Set(['op', 'field', 'as']);

const refuse = (index: number, why: string): never => badArguments(`metrics[${index}]${why}`, { expected: EXPECTED });

/**
 * Reads the metrics of a call; the number of records if absent.
 * @param groups names that are taken
 * @throws invalidArguments (107)
 */
export function readMetrics(table: TableSchema, metrics: readonly JsonObject[] | undefined, groups: readonly string[]): Metric[] {
  const read = metrics?.map((metric, index) => readMetric(table, metric, index)) ?? [{ name: 'count', op: 'count' as const }];
  const taken = new Set([...groups, 'objectId', '_id']);
  for (const [index, { name }] of read.entries()) {
    if (taken.has(name)) refuse(index, `: the name ${name} is taken; choose another by "as"`);
    taken.add(name);
  }
  return read;
}

function readMetric(table: TableSchema, metric: JsonObject, index: number): Metric {
  const unknown = Object.keys(metric).find((key) => !known.has(key));
  if (unknown !== undefined) refuse(index, `.${unknown.slice(0, 100)} is unknown`);
  const op = operations.find((one) => one === own(metric, 'op')) ?? refuse(index, `.op must be one of ${operations.join(', ')}`);
  const field = own(metric, 'field');
  if (field === undefined && op !== 'count') refuse(index, '.field is required');
  if (field !== undefined && typeof field !== 'string') refuse(index, '.field must be the name of a field');
  const as = own(metric, 'as');
  if (as !== undefined && (typeof as !== 'string' || !FORM.test(as)))
    refuse(index, '.as must be a name of letters, digits and underscores');
  if (typeof field !== 'string') return { name: typeof as === 'string' ? as : 'count', op };
  checkField(table, field, op, index);
  return { name: typeof as === 'string' ? as : `${op}_${field.replaceAll('.', '_')}`, op, field };
}

function checkField(table: TableSchema, name: string, op: Operation, index: number): void {
  const [root = ''] = name.split('.', 1);
  const field = table.fields.get(root);
  if (!field)
    badArguments(`metrics[${index}].field: ${table.className} has no field ${root.slice(0, 100)}`, { next: 'Get-Schema' });
  const adds = op === 'sum' || op === 'avg';
  if (adds && field.type !== 'Number' && !(root !== name && field.type === 'Object'))
    refuse(index, `: ${op} takes a Number, ${name} is of type ${field.type}`);
}

/** Returns the accumulator of `$group` for a metric. `count` with a field counts the records that have a value. */
export function accumulatorOf({ op, field }: Omit<Metric, 'name'>): JsonObject {
  if (field === undefined) return { $sum: 1 };
  if (op === 'count') return { $sum: { $cond: [{ $ne: [`$${field}`, null] }, 1, 0] } };
  return { [`$${op}`]: `$${field}` };
}

/** The value of a metric over no records. */
export const emptyValue = ({ op }: Metric): JsonValue => (op === 'count' || op === 'sum' ? 0 : null);

/**
 * Checks that `having` names metrics only.
 * @throws invalidArguments (107)
 */
export function checkHaving(having: JsonObject, metrics: readonly Metric[]): void {
  for (const [name, value] of Object.entries(having)) {
    if (name === '$and' || name === '$or' || name === '$nor') {
      if (Array.isArray(value)) for (const branch of value) if (isJsonObject(branch)) checkHaving(branch, metrics);
    } else if (!metrics.some((metric) => metric.name === name))
      badArguments(`having: ${name.slice(0, 100)} is not a metric`, {
        expected: `having is as where, on ${metrics.map((metric) => metric.name).join(', ')}`,
      });
  }
}
