import type { FieldType, TableSchema } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../answers/refusals.ts';
import { tableNamed } from '../reading/tables.ts';

export const PAGES = 'SitePages';
export const MENUS = 'SiteMenus';

/**
 * A table of the site layer, whose fields a system may have made otherwise.
 * @param types what the tool needs of it; a field that is missing is none that is wrong
 * @throws classMissing (103), invalidArguments (107) where a field is of another type
 */
export function siteTable(call: ToolCall, className: string, types: Readonly<Record<string, readonly FieldType[]>>): TableSchema {
  const table = tableNamed(call, className);
  for (const [name, allowed] of Object.entries(types)) {
    const field = table.fields.get(name);
    if (field && !allowed.includes(field.type))
      badArguments(`${className}.${name} is of type ${field.type} in this system; the tool takes ${allowed.join(' or ')}`, {
        next: 'Get-Schema',
      });
  }
  return table;
}
