import { after } from 'node:test';
import { testSearch } from '../../sql/testing/search-cases.ts';
import { PostgresTables } from '../testing/tables.ts';

const tables = await PostgresTables.create();
after(() => tables.close());
await testSearch(tables);
