import type { FieldType } from '../../../schema/model.ts';
import type { ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../answers/refusals.ts';
import { hasField, tableNamed } from '../reading/tables.ts';
import { QUOTES, ROWS } from './quote-writes.ts';

/** Where arguments, and keys of rows, are stored that may be left out. */
const places: ReadonlyMap<string, readonly [table: string, field: string, ...types: FieldType[]]> = new Map([
  ['name', [QUOTES, 'Name', 'String', 'HTML/XML']],
  ['saleId', [QUOTES, 'SaleId', 'Pointer']],
  ['templateId', [QUOTES, 'TemplateId', 'Pointer']],
  ['description', [ROWS, 'Description', 'String', 'HTML/XML']],
  ['discount', [ROWS, 'Discount', 'Number']],
  ['vatRate', [ROWS, 'VatRate', 'Number']],
]);

/**
 * The Pointers without which a quote would be lost, and the fields for what was sent: systems are customised.
 * @param sent names of arguments, and of keys of rows
 * @throws classMissing (103), invalidArguments (107)
 */
export function requireFields(call: ToolCall, sent: Iterable<string>): void {
  for (const [table, field, target] of [
    [QUOTES, 'AccountId', 'Accounts'],
    [ROWS, 'PriceQuoteId', QUOTES],
  ] as const)
    if (tableNamed(call, table).fields.get(field)?.targetClass !== target)
      badArguments(`${table}.${field} is no Pointer to ${target} in this system`, { next: 'Get-Schema' });
  for (const argument of new Set(sent)) {
    const [table = '', field = '', ...types] = places.get(argument) ?? [];
    if (table === '' || types.some((type) => hasField(call, table, field, type))) continue;
    badArguments(`${argument} cannot be stored: ${table} has no field ${field} of type ${types.join(' or ')} in this system`, {
      expected: 'Leave it out, or add the field',
      next: 'Add-Fields',
    });
  }
}
