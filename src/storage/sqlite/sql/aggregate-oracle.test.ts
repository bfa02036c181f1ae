import { testRandomAggregates } from '../../sql/testing/aggregate-oracle.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteAggregate } from './aggregate.ts';

testRandomAggregates(await SalesTable.make(new TestTables(), sqliteAggregate, []), 150);
