import { testGuards } from '../../sql/testing/timing-safe-cases.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteAggregate } from './aggregate.ts';

const tables = new TestTables();
const seen: unknown[] = [];
tables.connection.db.function('rds_regex', (_pattern, text) => {
  seen.push(text);
  return 1;
});
await testGuards(tables, sqliteAggregate, () => seen.splice(0));
