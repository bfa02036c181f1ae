export { keyOfPart, type RequestKey, requestKey, type SentKey, sentKey } from './key.ts';
export { className as keyTable, KEPT_MS, readKey } from './key-rows.ts';
export { type Once, once, onceStepwise } from './once.ts';
export { keeping, keepingAnswer, keptResult, rowId } from './record-results.ts';
export { seal, unseal } from './sealed.ts';
