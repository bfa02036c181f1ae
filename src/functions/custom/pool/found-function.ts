import type { JsonObject } from '../../../kernel/json.ts';
import type { FoundFile } from '../loading/directory.ts';
import type { FilesOfVersion } from '../loading/loader.ts';

/** A function as the service knows it; its code is on threads only. */
export interface FoundFunction {
  readonly name: string;
  /** Application ids of the systems that may call it; `null` for all. */
  readonly systems: ReadonlySet<string> | null;
  /** JSON Schema of its input, for descriptions; left out: any input. */
  readonly inputSchema?: JsonObject | undefined;
  readonly file: FoundFile;
  /** The files of this version. */
  readonly files: FilesOfVersion;
}
