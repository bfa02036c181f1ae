import { getlead } from './getlead.ts';
import type { FormFunction } from './input.ts';
import { tableForm } from './web2table.ts';

/** The built-in functions by name (functions.md#forms). */
export const forms: ReadonlyMap<string, FormFunction> = new Map([
  ['getlead', getlead],
  ['web2table', tableForm('AcceptWebToTable')],
  ['web2case', tableForm('AcceptWebToCaseLeads', 'Cases')],
  ['web2sale', tableForm('AcceptWebToSaleLeads', 'Sales')],
]);
