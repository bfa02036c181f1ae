import { createRecord } from '../../records/index.ts';
import { notingSources } from '../sources.ts';
import type { Perform } from './action.ts';
import { filledFields } from './filled-fields.ts';

/**
 * Makes a record (CONTRACT "Triggers": `create-object`), and its table where it is not there yet.
 * @throws what templates and creates throw
 */
export const createObject: Perform<'create-object'> = async (run) => {
  const { table, fields } = run.action.data;
  const body = await filledFields(run, fields, run.system.store.schema().tables.get(table));
  await createRecord(await notingSources(run.context, table, run.sources), table, body);
};
