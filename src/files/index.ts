export { fileKeeper } from './attach.ts';
export { Files, type PrivatePlace } from './files.ts';
export type { FileSystem, OpenFile, PresentFile, StorageUsage } from './model.ts';
export { fileNameOf } from './name.ts';
export { openFileStore } from './stores/index.ts';
export type { ByteRange, FileStore } from './stores/port.ts';
export type { Orphan } from './sweep.ts';
export { serving } from './types/index.ts';
export { refuseWrongKey } from './upload.ts';
