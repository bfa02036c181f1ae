import { testAggregateEdges } from '../../sql/testing/aggregate-edges.ts';
import { testRandomAggregates } from '../../sql/testing/aggregate-oracle.ts';
import { SalesTable } from '../../sql/testing/sales.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteAggregate } from './aggregate.ts';

const sales = await SalesTable.make(new TestTables(), sqliteAggregate, []);
testAggregateEdges(sales);
testRandomAggregates(sales, 150);
