import type { JsonObject } from '../../../kernel/json.ts';
import { typeText } from '../../../schema/model.ts';
import { type Change, recordsText } from '../model/change.ts';
import { type FieldPart, type NamedRow, TABLE_ITSELF } from '../model/snapshot.ts';
import type { Delta, LabelDelta, RowDelta, TableDelta } from './delta.ts';

/** A number of records; `null` if counting them took too long. */
export type Counted = number | null;

/** How many records a destructive change concerns. */
export interface Counts {
  /** Records with a value of a field; `'members'` for a Relation, whose members are no values of its records. */
  values(className: string, field: string): Counted | 'members';
  records(className: string): Counted;
  /** Users of a role. */
  members(roleId: string): Counted;
}

/** Returns differences as they are shown, in a fixed order: tables, then roles, triggers, labels, reports, flags. */
export function describeDelta({ tables, gone, rows, labels }: Delta, counts: Counts): Change[] {
  const changesOf = (part: string) => rows.filter(({ kind }) => kind.part === part).map((row) => describeRow(row, counts));
  return [
    ...tables.flatMap((table) => describeTable(table, counts)),
    ...gone.map((className): Change => {
      const records = counts.records(className);
      const text = `${className}: table goes, ${recordsText(records, 'record', 'records', 'no record')}`;
      return { sign: '!', part: 'tables', table: className, text, destructive: true, ...countOf(records) };
    }),
    ...changesOf('roles'),
    ...changesOf('triggers'),
    ...labels.flatMap((delta) => describeLabels(withoutImplied(delta, tables, gone))),
    ...changesOf('reports'),
    ...changesOf('config'),
  ];
}

function describeTable(delta: TableDelta, counts: Counts): Change[] {
  const { className, wanted } = delta;
  const change = (sign: Change['sign'], name: string | undefined, text: string): Change => ({
    sign,
    part: 'tables',
    table: className,
    ...(name !== undefined && { name }),
    text,
    destructive: false,
  });
  if (delta.isNew) {
    const fields = wanted?.fields.size ?? 0;
    return [change('+', undefined, `${className}: table, ${recordsText(fields, 'field', 'fields', 'no fields')}`)];
  }
  const loss = (name: string, what: string): Change => {
    const records = counts.values(className, delta.renamed.find(([, to]) => to === name)?.[0] ?? name);
    if (records === 'members')
      return { ...change('!', name, `${className}.${name}: ${what}, with its members`), destructive: true };
    const held = recordsText(records, 'record has a value', 'records have a value', 'no record has a value');
    return { ...change('!', name, `${className}.${name}: ${what}, ${held}`), destructive: true, ...countOf(records) };
  };
  const field = (name: string): FieldPart => wanted?.fields.get(name) as FieldPart;
  const permissions = delta.changedPermissions.join(', ');
  return [
    ...delta.renamed.map(([from, to]) => change('>', to, `${className}: ${from} → ${to}`)),
    ...delta.added.map((name) => change('+', name, `${className}.${name} ${fieldText(field(name))}`)),
    ...delta.options.map((name) => change('~', name, `${className}.${name}: ${optionsText(field(name))}`)),
    ...indexChanges(delta, change),
    ...(delta.hasNewTimeline ? [change('~', undefined, `${className}: timeline${wanted?.timeline ? '' : ' off'}`)] : []),
    ...(permissions === ''
      ? []
      : [{ ...change('~', undefined, `${className}: permissions ${permissions}`), part: 'permissions' as const }]),
    ...delta.retyped.map(({ name, from, to }) => loss(name, `${typeOf(from)} → ${typeOf(to)}`)),
    ...delta.dropped.map((name) => loss(name, 'field goes')),
  ];
}

type MakeChange = (sign: Change['sign'], name: string | undefined, text: string) => Change;

function indexChanges({ className, indexes, uniqueIndexes, wanted, hasNewTextIndex }: TableDelta, change: MakeChange): Change[] {
  const named = (what: string, { made, dropped }: TableDelta['indexes']) => [
    ...made.map((name) => change('~', name, `${className}: ${what} ${name}`)),
    ...dropped.filter((name) => !made.includes(name)).map((name) => change('~', name, `${className}: ${what} ${name} goes`)),
  ];
  const searched = wanted?.textIndex.join(', ') ?? '';
  return [
    ...named('index', indexes),
    ...named('unique index', uniqueIndexes),
    ...(hasNewTextIndex ? [change('~', undefined, `${className}: text index ${searched === '' ? 'goes' : searched}`)] : []),
  ];
}

const typeOf = ({ type, targetClass }: FieldPart): string => typeText(type, targetClass);

function fieldText(field: FieldPart): string {
  return field.required || field.defaultValue !== undefined ? `${typeOf(field)}, ${optionsText(field)}` : typeOf(field);
}

function optionsText({ required, defaultValue }: FieldPart): string {
  const said = [
    required ? 'required' : 'not required',
    defaultValue === undefined ? 'no default' : `default ${JSON.stringify(defaultValue)}`,
  ];
  return said.join(', ');
}

/** `trigger Call new leads (Accounts)`. */
export function rowName(what: string, { table, name }: NamedRow): string {
  return `${what} ${name === '' ? 'without a name' : name}${table === '' ? '' : ` (${table})`}`;
}

function describeRow(delta: RowDelta, counts: Counts): Change {
  const { kind } = delta;
  const row = delta.op === 'remove' ? delta.found : delta.wanted;
  const named = rowName(kind.what, row);
  const about = { part: kind.part, ...(row.table !== '' && { table: row.table }), name: row.name };
  if (delta.op === 'add') return { sign: '+', ...about, text: named, destructive: false };
  if (delta.op === 'change') return { sign: '~', ...about, text: `${named}: ${delta.changed.join(', ')}`, destructive: false };
  if (kind.part !== 'roles') return { sign: '!', ...about, text: `${named} goes`, destructive: true };
  const records = counts.members(delta.found.objectId);
  return {
    sign: '!',
    ...about,
    text: `${named} goes, ${recordsText(records, 'user', 'users', 'no users')}`,
    destructive: true,
    ...countOf(records),
  };
}

/** Labels of fields and tables that are added or go are a part of that change. */
function withoutImplied({ table, set, removed }: LabelDelta, tables: Delta['tables'], gone: Delta['gone']): LabelDelta {
  const delta = tables.find(({ className }) => className === table);
  const isMade = (field: string) => delta !== undefined && (delta.isNew || delta.added.includes(field));
  const isGone = (field: string) => gone.includes(table) || delta?.dropped.includes(field) === true;
  return { table, set: set.filter(({ field }) => !isMade(field)), removed: removed.filter(({ field }) => !isGone(field)) };
}

const countOf = (records: Counted) => records !== null && { records };

/** Number of labels that are named. */
const MAX_NAMED = 5;

function describeLabels({ table, set, removed }: LabelDelta): Change[] {
  if (set.length + removed.length === 0) return [];
  const said = (labels: readonly { field: string }[], what: string): string[] => {
    if (labels.length === 0) return [];
    const names = labels.slice(0, MAX_NAMED).map(({ field }) => (field === TABLE_ITSELF ? 'the table' : field));
    const more = labels.length - names.length;
    return [`${what} ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`];
  };
  const text = [...said(set, 'labels of'), ...said(removed, 'no label any more of')].join('; ');
  return [{ sign: '~', part: 'labels', table, text: `${table}: ${text}`, destructive: false }];
}

/** The fields of a change as JSON, in a fixed order. */
export const changeJson = ({ sign, part, table, name, text, destructive, records }: Change): JsonObject => ({
  sign,
  part,
  ...(table !== undefined && { table }),
  ...(name !== undefined && { name }),
  text,
  destructive,
  ...(records !== undefined && { records }),
});
