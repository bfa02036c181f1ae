/**
 * Writes the sum of a sale's rows into the sale: called with `{"saleId": "…"}`, or by a trigger on SaleRows, which hands over its record.
 *
 *     curl -X POST "$BASE_URL/functions/$APP_ID/sale-total" -H "X-Platform-Master-Key: $MASTER_KEY" \
 *       -H 'Content-Type: application/json' -d '{"saleId": "aB3dE6gH9k"}'
 */
import { defineFunction } from 'record-data-service';

export default defineFunction<{ saleId?: string }>({
  // A JSON Schema works as well as zod.
  input: { type: 'object', properties: { saleId: { type: 'string', minLength: 1 } } },

  async run({ input, record, request, system }) {
    // Functions are open to anyone who knows the address; this one requires a key.
    if (request && !request.holdsKey) throw new Error('A key is needed.');

    const linked = record?.SaleId as { objectId: string } | undefined;
    const saleId = linked?.objectId ?? input.saleId;
    if (saleId === undefined) throw new Error('saleId is missing.');

    const sale = { __type: 'Pointer', className: 'Sales', objectId: saleId };
    const [sum] = await system.aggregate<{ total: number }>('SaleRows', [
      { $match: { SaleId: sale } },
      { $group: { _id: null, total: { $sum: '$Total' } } },
    ]);
    const total = sum?.total ?? 0;
    await system.update('Sales', saleId, { Total: total });
    return { saleId, total };
  },
});
