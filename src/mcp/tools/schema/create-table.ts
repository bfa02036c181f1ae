import { serviceError } from '../../../errors/fail.ts';
import { createSchema } from '../../../records/index.ts';
import { isDefaultField } from '../../../schema/change.ts';
import { readTableDefaults } from '../../../systems/index.ts';
import { flag, objects, table, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { advise } from '../../errors/advice.ts';
import { allRoleNames } from '../../kit/people/roles.ts';
import { DICTIONARY, labelWrites, TABLE_ITSELF } from '../../kit/schema/dictionary.ts';
import { labelOf, MOST_FIELDS, missingTargets, readFields } from '../../kit/schema/fields.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** SPEC "Schema record": a table of this tool starts with a default CLP. Table, permissions and labels are one commit. */
export const createTable = defineTool({
  name: 'Create-Table',
  group: 'schema',
  description: 'Create a table with the default permissions, labels and optional fields [{name, type, targetClass?, label?}].',
  input: {
    className: table(),
    label: text(200).optional(),
    fields: objects(MOST_FIELDS, 0).optional(),
    timeline: flag().optional(),
  },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'add',
  async run(call, { className, label = '', fields: sent = [], timeline = false }) {
    const { context } = call;
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
    await inTurn(call, DICTIONARY, async (held) => {
      const rows = await labelWrites(context.store, className, told);
      await createSchema(held.context, className, body, rows);
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
  },
});

const ownName = (className: string) =>
  advise(serviceError('invalidClassName', className), {
    expected: "Names that begin with an underscore are the service's own",
    next: 'Create-Table',
  });
