import type { JsonObject } from '../../kernel/json.ts';

/** A Pointer in wire form (SPEC "Wire types"). */
export const wirePointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });

/** A Date in wire form (SPEC "Wire types"). @param iso ISO 8601, as `isoText` writes it */
export const wireDate = (iso: string): JsonObject => ({ __type: 'Date', iso });
