import { inTurn } from '../../../crm/commands/exclusive.ts';
import { allRoleNames } from '../../../crm/queries/roles.ts';
import { tableNamed } from '../../../crm/queries/tables.ts';
import { advise } from '../../../crm/refusals.ts';
import { DICTIONARY, labelWrites, TABLE_ITSELF } from '../../../crm/schema/dictionary.ts';
import { labelOf, MAX_FIELDS, missingTargets, readFields } from '../../../crm/schema/fields.ts';
import { serviceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { createSchema, updateSchema } from '../../../records/index.ts';
import { isDefaultField } from '../../../schema/change.ts';
import { readTableDefaults } from '../../../systems/index.ts';
import { flag, objects, table, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';

/** SPEC "Schema record": a table of this tool starts with a default CLP. Table, permissions and labels are one commit. */
export const createTable = defineTool({
  name: 'Create-Table',
  group: 'schema',
  description: 'Create a table with the default permissions, labels and optional fields [{name, type, targetClass?, label?}].',
  input: {
    className: table(),
    label: text(200).optional(),
    fields: objects(MAX_FIELDS, 0).optional(),
    timeline: flag().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  async run(call, { className, label = '', fields: sent = [], timeline = false }) {
    if (className.startsWith('_')) throw ownName(className);
    const { definitions, labels } = readFields(sent);
    const defaults = await readTableDefaults(new Set(await allRoleNames(call)));
    const { classLevelPermissions } = defaults;
    const told = new Map([[TABLE_ITSELF, labelOf(label, 'label')], ...defaults.labels, ...labels]);
    const body = {
      className,
      fields: definitions,
      classLevelPermissions,
      ...(timeline && { timeline: { displayFields: {}, index: {} } }),
    };
    await inTurn(call, DICTIONARY, async (held) => {
      const rows = await labelWrites(call.store, className, told);
      await createSchema(held, className, body, rows);
    });
    const { tables } = call.store.schema();
    const warnings = missingTargets(call.store.schema(), definitions);
    return {
      className,
      ...(label !== '' && { label }),
      fields: [...(tables.get(className)?.fields.keys() ?? [])].filter((name) => !isDefaultField(name)),
      classLevelPermissions,
      timeline,
      ...(warnings.length > 0 && { warnings }),
    };
  },
});

const ownName = (className: string) =>
  advise(serviceError('invalidClassName', className), {
    expected: "Names that begin with an underscore are the service's own",
    next: 'Create-Table',
  });

/** SPEC "Schemas: Add a field", with labels in the same commit. A field that is there with its type is passed over, with its label. */
export const addFields = defineTool({
  name: 'Add-Fields',
  group: 'schema',
  description: 'Add fields [{name, type, targetClass?, label?}] to a table; a type can never be changed later.',
  input: { className: table(), fields: objects(MAX_FIELDS) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  run: (call, { className, fields }) => inTurn(call, DICTIONARY, (held) => addTo(held, className, fields)),
});

async function addTo(call: ToolCall, className: string, sent: readonly JsonObject[]): Promise<JsonObject> {
  const { store } = call;
  const { fields: before } = tableNamed(call, className);
  const { definitions, labels } = readFields(sent);
  const names = Object.keys(definitions);
  const added = names.filter((name) => !before.has(name));
  const passedOver = names.filter((name) => before.has(name));
  const rows = await labelWrites(store, className, new Map([...labels].filter(([name]) => !before.has(name))));
  await updateSchema(call, className, { fields: definitions }, rows);
  const warnings = missingTargets(store.schema(), definitions);
  return { className, added, ...(passedOver.length > 0 && { passedOver }), ...(warnings.length > 0 && { warnings }) };
}
