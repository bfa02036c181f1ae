import { testFilters } from '../../sql/testing/filter-cases.ts';
import { TestTables } from '../testing/tables.ts';

await testFilters(new TestTables());
