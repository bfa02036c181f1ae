import type { JsonObject } from '../../../kernel/json.ts';
import { updateSchema } from '../../../records/index.ts';
import { objects, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { DICTIONARY, labelWrites } from '../../kit/schema/dictionary.ts';
import { MOST_FIELDS, missingTargets, readFields } from '../../kit/schema/fields.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** SPEC "Schemas: Add a field", with labels in the same commit. A field that is there with its type is passed over, with its label. */
export const addFields = defineTool({
  name: 'Add-Fields',
  group: 'schema',
  description: 'Add fields [{name, type, targetClass?, label?}] to a table; a type can never be changed later.',
  input: { className: table(), fields: objects(MOST_FIELDS) },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  run: (call, { className, fields }) => inTurn(call, DICTIONARY, (held) => addTo(held, className, fields)),
});

async function addTo(call: ToolCall, className: string, sent: readonly JsonObject[]): Promise<JsonObject> {
  const { store } = call.context;
  const { fields: before } = tableNamed(call, className);
  const { definitions, labels } = readFields(sent);
  const names = Object.keys(definitions);
  const added = names.filter((name) => !before.has(name));
  const passedOver = names.filter((name) => before.has(name));
  const rows = await labelWrites(store, className, new Map([...labels].filter(([name]) => !before.has(name))));
  await updateSchema(call.context, className, { fields: definitions }, rows);
  const warnings = missingTargets(store.schema(), definitions);
  return { className, added, ...(passedOver.length > 0 && { passedOver }), ...(warnings.length > 0 && { warnings }) };
}
