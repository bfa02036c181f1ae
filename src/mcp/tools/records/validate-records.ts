import { type Validation, validate } from '../../../crm/commands/validate.ts';
import { type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { objects, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { describeError } from '../../errors/describe.ts';
import { headOf, MAX_LIST_BYTES } from '../../results/page.ts';

/** Reports the errors that creating the records would raise; nothing is written. Reference: tools.md#validate-records. */
export const validateRecords = defineTool({
  name: 'Validate-Records',
  group: 'records',
  description: 'Check records against the schema without writing; lists every wrong field, type and dangling Pointer.',
  input: { table: table(), data: objects() },
  needs: ['mcp:view'],
  effect: 'read',
  async run(call, { table: className, data }) {
    const checked = await validate(call, className, data);
    const { wrong, adds, refusal, hidden, isRuled } = checked;
    return {
      checked: data.length,
      valid: data.length - wrong.length,
      ...headOf(shownFaults(checked), wrong.length, undefined, MAX_LIST_BYTES),
      ...(adds.length > 0 && { adds: [...adds] }),
      ...(refusal && { refused: refusal.message }),
      ...(hidden.length > 0 && { hidden: [...hidden] }),
      ...(!isRuled && { hint: 'Names and passwords of users are checked when they are written.' }),
    };
  },
});

/** Describes as many wrong records as fit into an answer, and a part of the next. There may be far more, and describing each takes time. */
function shownFaults({ wrong, errorOf }: Validation): JsonObject[] {
  const shown: JsonObject[] = [];
  let left = MAX_LIST_BYTES;
  for (const { index, faults } of wrong) {
    if (left < 0) break;
    const some: JsonObject[] = [];
    for (const found of faults) {
      if (left < 0) break;
      const { field, error } = errorOf(found);
      const fault = { ...(field !== undefined && { field }), ...describeError(error) };
      left -= jsonBytes(fault);
      some.push(fault);
    }
    shown.push({ index, faults: some });
  }
  return shown;
}
