import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { createSchema, updateSchema } from '../../records/index.ts';
import { isDefaultField } from '../../schema/change.ts';
import { readTableDefaults } from '../../systems/index.ts';
import { inTurn } from '../commands/exclusive.ts';
import type { CrmContext } from '../context.ts';
import { tableNamed } from '../queries/records.ts';
import { allRoleNames } from '../queries/roles.ts';
import { advise } from '../refusals.ts';
import { DICTIONARY, labelWrites, TABLE_ITSELF } from './dictionary.ts';
import { labelOf, missingTargets, readFields } from './fields.ts';

/** A table to be. */
export interface NewTable {
  readonly className: string;
  readonly label?: string | undefined;
  /** `[{name, type, targetClass?, label?}]` */
  readonly fields?: readonly JsonObject[] | undefined;
  readonly timeline?: boolean | undefined;
}

/**
 * Creates a table with the permissions of the template's shared tables (SPEC "Schema record") and its labels, in one commit.
 * @throws invalidClassName, classExists (103), invalidArguments (107), permissionDenied (119); what the schema refuses
 */
export async function createTable(
  context: CrmContext,
  { className, label = '', fields: sent = [], timeline = false }: NewTable,
): Promise<JsonObject> {
  if (className.startsWith('_')) throw ownName(className);
  const { definitions, labels } = readFields(sent);
  const defaults = await readTableDefaults(new Set(await allRoleNames(context)));
  const { classLevelPermissions } = defaults;
  const told = new Map([[TABLE_ITSELF, labelOf(label, 'label')], ...defaults.labels, ...labels]);
  const body = {
    className,
    fields: definitions,
    classLevelPermissions,
    ...(timeline && { timeline: { displayFields: {}, index: {} } }),
  };
  await inTurn(context, DICTIONARY, async (held) => {
    const rows = await labelWrites(context.store, className, told);
    await createSchema(held, className, body, rows);
  });
  const { tables } = context.store.schema();
  const warnings = missingTargets(context.store.schema(), definitions);
  return {
    className,
    ...(label !== '' && { label }),
    fields: [...(tables.get(className)?.fields.keys() ?? [])].filter((name) => !isDefaultField(name)),
    classLevelPermissions,
    timeline,
    ...(warnings.length > 0 && { warnings }),
  };
}

const ownName = (className: string) =>
  advise(serviceError('invalidClassName', className), {
    expected: "Names that begin with an underscore are the service's own",
    next: 'Create-Table',
  });

/**
 * Adds fields to a table with their labels, in one commit (SPEC "Schemas: Add a field"). A field that is there with its type is passed over,
 * with its label.
 * @param fields as of `NewTable`
 * @throws classMissing (103), invalidArguments (107), permissionDenied (119); what the schema refuses
 */
export const addFields = (context: CrmContext, className: string, fields: readonly JsonObject[]): Promise<JsonObject> =>
  inTurn(context, DICTIONARY, (held) => addTo(held, className, fields));

async function addTo(context: CrmContext, className: string, sent: readonly JsonObject[]): Promise<JsonObject> {
  const { store } = context;
  const { fields: before } = tableNamed(context, className);
  const { definitions, labels } = readFields(sent);
  const names = Object.keys(definitions);
  const added = names.filter((name) => !before.has(name));
  const passedOver = names.filter((name) => before.has(name));
  const rows = await labelWrites(store, className, new Map([...labels].filter(([name]) => !before.has(name))));
  await updateSchema(context, className, { fields: definitions }, rows);
  const warnings = missingTargets(store.schema(), definitions);
  return { className, added, ...(passedOver.length > 0 && { passedOver }), ...(warnings.length > 0 && { warnings }) };
}
