import { testSelections } from '../../sql/testing/select-cases.ts';
import { TestTables } from '../testing/tables.ts';

await testSelections(new TestTables());
