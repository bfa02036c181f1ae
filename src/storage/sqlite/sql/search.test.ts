import { testSearch } from '../../sql/testing/search-cases.ts';
import { TestTables } from '../testing/tables.ts';

await testSearch(new TestTables());
