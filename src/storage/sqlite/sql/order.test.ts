import { testOrders } from '../../sql/testing/order-cases.ts';
import { TestTables } from '../testing/tables.ts';

await testOrders(new TestTables());
