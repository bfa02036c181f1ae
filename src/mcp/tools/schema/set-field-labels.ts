import { writeTogether } from '../../../records/index.ts';
import { isDescribed } from '../../../schema/system-tables.ts';
import { object, table } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { tableNamed } from '../../kit/reading/tables.ts';
import { DICTIONARY, labelWrites } from '../../kit/schema/dictionary.ts';
import { labelOf } from '../../kit/schema/fields.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** Labels of one call: an answer names their fields. */
const MOST_LABELS = 300;

/** SPEC "Other system tables": labels of fields are rows of `_Dictionary`. One commit. */
export const setFieldLabels = defineTool({
  name: 'Set-Field-Labels',
  group: 'schema',
  description: 'Set display labels of fields {field: label}; merges with the present ones, an empty label takes one away.',
  input: { className: table(), labels: object() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  async run(call, { className, labels: sent }) {
    const { fields } = tableNamed(call, className);
    const labels = new Map(Object.entries(sent).map(([name, label]) => [name, labelOf(label, `labels.${name.slice(0, 128)}`)]));
    if (labels.size === 0) badArguments('labels must not be empty');
    if (labels.size > MOST_LABELS) badArguments(`labels must have at most ${MOST_LABELS} entries`);
    const unknown = [...labels.keys()].filter((name) => !fields.has(name) || !isDescribed(className, name));
    if (unknown.length > 0)
      badArguments(`labels: ${className} has no field ${unknown.slice(0, 20).join(', ').slice(0, 500)}`, { next: 'Get-Schema' });
    return inTurn(call, DICTIONARY, async ({ context }) => {
      const writes = await labelWrites(context.store, className, labels);
      const written = await writeTogether(context, writes);
      return { className, labelled: [...labels.keys()], changed: written.length };
    });
  },
});
