import { createRecord } from '../../records/index.ts';
import type { Perform } from './action.ts';
import { filledFields } from './filled-fields.ts';

/**
 * Makes a record (CONTRACT "Triggers": `create-object`), and its table where it is not there yet.
 * @throws what templates and creates throw
 */
export const createObject: Perform<'create-object'> = async (run) => {
  const { table, fields } = run.action.data;
  await createRecord(run.context, table, await filledFields(run, fields, run.system.store.schema().tables.get(table)));
};
