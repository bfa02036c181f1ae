import { fail } from '../../errors/fail.ts';
import { createRecord } from '../../records/index.ts';
import type { Perform } from './action.ts';
import { filledFields } from './filled-fields.ts';

/**
 * Makes a record (CONTRACT "Triggers": `create-object`).
 * @throws classMissing (103) where its table is gone: no trigger makes tables; what templates and creates throw
 */
export const createObject: Perform<'create-object'> = async (run) => {
  const { table, fields } = run.action.data;
  const found = run.system.store.schema().tables.get(table) ?? fail('classMissing', table);
  await createRecord(run.context, table, await filledFields(run, fields, found));
};
