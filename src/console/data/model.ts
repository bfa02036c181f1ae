import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { grantFor, type Principal } from '../../access/index.ts';
import type { CrmContext } from '../../crm/context.ts';
import { visibleFields } from '../../crm/queries/field-visibility.ts';
import { knownTables } from '../../crm/queries/records.ts';
import { TABLE_ITSELF } from '../../crm/schema/dictionary.ts';
import { allLabels, type TableLabels } from '../../crm/schema/labels.ts';
import { timeZoneOf } from '../../crm/time/time-zone.ts';
import { multiSelectTarget } from '../../crm/wire/multi-select.ts';
import { titleFieldsOf } from '../../crm/wire/titles.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { isServerSet } from '../../records/index.ts';
import type { Field, Schema, TableSchema } from '../../schema/model.ts';
import { isLog, isSystemTable } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import type { ApiEndpoint } from '../protocol/api-endpoint.ts';
import type { FieldModel, Model, TableModel } from '../protocol/protocol.ts';
import { meOf } from './me.ts';

/** The model without `me`, which may change at any time. */
type SharedModel = Omit<Model, 'me'>;

/** A cached model and what it depends on. Keyed by the principal, which stays the same object while the user's roles do. */
interface CachedModel {
  readonly schema: Schema;
  readonly labels: ReadonlyMap<string, TableLabels>;
  readonly timeZone: string;
  readonly name: string;
  readonly model: SharedModel;
}

const cache = new WeakMap<Principal, CachedModel>();

/** Maximum number of models shared between callers, by hash: users with equal roles mostly see the same, and a model takes half a megabyte. */
const MAX_SHARED_MODELS = 64;
const sharedModels = memoByObject<Store, LRUCache<string, SharedModel>>(() => new LRUCache({ max: MAX_SHARED_MODELS }));

export const getModel: ApiEndpoint = {
  method: 'GET',
  path: '/model',
  async run(context): Promise<Model> {
    const [model, me] = await Promise.all([modelOf(context), meOf(context)]);
    return { ...model, me };
  },
};

/** Returns the system as the caller sees it: the tables it may find in, and their visible fields. Cached until one of its inputs changes. */
export async function modelOf(context: CrmContext): Promise<SharedModel> {
  const { principal, store, system } = context;
  const [labels, timeZone] = await Promise.all([allLabels(store), timeZoneOf(context)]);
  const [schema, { name }] = [store.durableSchema(), system];
  const before = cache.get(principal);
  if (before?.schema === schema && before.labels === labels && before.timeZone === timeZone && before.name === name)
    return before.model;
  const tables = findable(context).map((table) => tableModel(context, table, labels.get(table.className)));
  const content = { system: { appId: context.appId, name }, timeZone, tables };
  const roles = principal.kind === 'user' ? principal.roles : [];
  const hashed = hash('sha256', JSON.stringify([content, roles]));
  const model = sharedModels(store).get(hashed) ?? { version: hashed.slice(0, 16), ...content };
  sharedModels(store).set(hashed, model);
  cache.set(principal, { schema, labels, timeZone, name, model });
  return model;
}

/** Returns the tables that the caller may find in, in the order of the schema. */
export const findable = (context: CrmContext): TableSchema[] =>
  knownTables(context).filter((table) => mayDo(context, 'find', table));

/** Whether the navigation lists a table that the caller may find in. Reference: console.md#console-data. */
export const isListed = ({ className }: TableSchema): boolean => !isSystemTable(className);

const mayDo = ({ principal, store }: CrmContext, action: keyof TableModel['may'], table: TableSchema): boolean =>
  grantFor(principal, action, table, store.schema()) !== null;

function tableModel(context: CrmContext, table: TableSchema, labels: TableLabels | undefined): TableModel {
  const { className } = table;
  const label = labels?.get(TABLE_ITSELF);
  const names = new Set(visibleFields(context, table, table.fields.keys()));
  const may = (action: keyof TableModel['may']) => mayDo(context, action, table);
  return {
    name: className,
    ...(label !== undefined && { label }),
    isListed: isListed(table),
    may: { find: true, get: may('get'), create: may('create'), update: may('update'), delete: may('delete') },
    keepsHistory: table.timeline !== undefined && !isLog(className),
    titleFields: titleFieldsOf(table).filter((name) => names.has(name)),
    fields: [...table.fields.values()].filter(({ name }) => names.has(name)).map((field) => fieldModel(table, field, labels)),
  };
}

function fieldModel(table: TableSchema, field: Field, labels: TableLabels | undefined): FieldModel {
  const { name, type } = field;
  const targetClass = field.targetClass ?? multiSelectTarget(field);
  const label = labels?.get(name);
  return {
    name,
    type,
    ...(targetClass !== undefined && { targetClass }),
    ...(label !== undefined && { label }),
    isReadOnly: isServerSet(name),
    isIndexed: isIndexed(table, name),
  };
}

/** Fields with a complete index in every table. */
const indexed: ReadonlySet<string> = new Set(['objectId', 'createdAt']);

/** Indexes of Pointers omit records without a value, so they cannot provide an order. */
const isIndexed = ({ indexes }: TableSchema, name: string): boolean =>
  indexed.has(name) || [...indexes.values()].some(({ keys }) => keys[0]?.[0] === name);
