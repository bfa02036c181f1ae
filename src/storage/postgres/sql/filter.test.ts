import { after } from 'node:test';
import { testFilters } from '../../sql/testing/filter-cases.ts';
import { PostgresTables } from '../testing/tables.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testFilters(tables);
