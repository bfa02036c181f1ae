import type { JsonObject } from '../../kernel/json.ts';

/** Returns a Pointer in wire form (types.md#pointer). */
export const wirePointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });

/** Returns a Date in wire form (types.md#date). @param iso ISO 8601, as `isoText` writes it */
export const wireDate = (iso: string): JsonObject => ({ __type: 'Date', iso });
