import { after } from 'node:test';
import { testSelections } from '../../sql/testing/select-cases.ts';
import { PostgresTables } from '../testing/tables.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testSelections(tables);
