import { serviceError } from '../../errors/fail.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { createSchema, updateSchema } from '../../records/index.ts';
import { isDefaultField } from '../../schema/change.ts';
import { readTableDefaults } from '../../systems/index.ts';
import { runExclusive } from '../commands/exclusive.ts';
import type { CrmContext } from '../context.ts';
import { tableNamed } from '../queries/records.ts';
import { allRoleNames } from '../queries/roles.ts';
import { advise } from '../refusals.ts';
import { DICTIONARY, labelWrites, TABLE_ITSELF } from './dictionary.ts';
import { labelOf, missingTargets, readFields } from './fields.ts';

/** A new table. */
export interface NewTable {
  readonly className: string;
  readonly label?: string | undefined;
  /** `[{name, type, targetClass?, label?, required?, defaultValue?}]` */
  readonly fields?: readonly JsonObject[] | undefined;
  readonly timeline?: boolean | undefined;
}

/**
 * Creates a table with its labels and the default permissions of shared tables, in one commit. Reference: agents.md#facts-about-single-tools.
 * @throws invalidClassName, classExists (103), invalidArguments (107), permissionDenied (119); errors of the schema
 */
export async function createTable(
  context: CrmContext,
  { className, label = '', fields: sent = [], timeline = false }: NewTable,
): Promise<JsonObject> {
  if (className.startsWith('_')) throw ownName(className);
  const { definitions, labels } = readFields(sent);
  const defaults = await readTableDefaults(new Set(await allRoleNames(context)));
  const { classLevelPermissions } = defaults;
  const allLabels = new Map([[TABLE_ITSELF, labelOf(label, 'label')], ...defaults.labels, ...labels]);
  const body = {
    className,
    fields: definitions,
    classLevelPermissions,
    ...(timeline && { timeline: { displayFields: {}, index: {} } }),
  };
  await runExclusive(context, DICTIONARY, async (held) => {
    const rows = await labelWrites(context.store, className, allLabels);
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
 * Adds fields to a table with their labels, in one commit. A field that exists with the same type is skipped, including its label.
 * Reference: schemas.md#change-a-table.
 * @param fields as in `NewTable`
 * @throws classMissing (103), invalidArguments (107), permissionDenied (119); errors of the schema
 */
export const addFields = (context: CrmContext, className: string, fields: readonly JsonObject[]): Promise<JsonObject> =>
  runExclusive(context, DICTIONARY, (held) => addTo(held, className, fields));

/** Fields that exist keep their options. */
const typeOf = ({ type = null, targetClass }: JsonObject): JsonObject => ({
  type,
  ...(targetClass !== undefined && { targetClass }),
});

async function addTo(context: CrmContext, className: string, sent: readonly JsonObject[]): Promise<JsonObject> {
  const { store } = context;
  const { fields: before } = tableNamed(context, className);
  const { definitions, labels } = readFields(sent);
  const names = Object.keys(definitions);
  const added = names.filter((name) => !before.has(name));
  const passedOver = names.filter((name) => before.has(name));
  const rows = await labelWrites(store, className, new Map([...labels].filter(([name]) => !before.has(name))));
  const fields = Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => [
      name,
      before.has(name) ? typeOf(definition as JsonObject) : definition,
    ]),
  );
  await updateSchema(context, className, { fields }, rows);
  const warnings = missingTargets(store.schema(), definitions);
  return { className, added, ...(passedOver.length > 0 && { passedOver }), ...(warnings.length > 0 && { warnings }) };
}
