import type { Principal } from '../../access/index.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from './context.ts';

/** A file that a record is to hold. */
export interface HeldFile {
  /** The stored name, as the upload returned it. */
  readonly name: string;
  /** Type of the field. */
  readonly type: 'File' | 'PrivateFile';
}

/** A File object of a body. */
export interface NamedFile {
  readonly field: string;
  /** The name that the client sent. */
  readonly name: string;
  /** The URL that the client sent; any JSON value. */
  readonly url: JsonValue | undefined;
}

/** A write of one record that names files. */
export interface FileWrite {
  readonly className: string;
  readonly objectId: string;
  /** At least one. */
  readonly files: readonly NamedFile[];
}

/** What `resolve` found about the files of a write that its commit refused. */
export interface ResolvedFiles {
  /** Fields left unchanged: they already hold the file, which was deleted or which the caller may not attach. Clients send whole forms back. */
  readonly kept: ReadonlySet<string>;
  /** Names of private files that the caller may attach, because it may read them. */
  readonly granted: ReadonlySet<string>;
}

/** Access to stored files. `app.ts` passes it to `records/`, which does not know the layers below it. Reference: files.md#attach-a-file. */
export interface FileKeeper {
  /**
   * Returns the steps that attach files in the record's own commit. They follow the record's steps, so that a caller who may not write the record
   * learns nothing about files. They fail if a file is missing, or is private and not in `granted`. Pure.
   * @param files at least one
   * @param granted of `ResolvedFiles`
   * @throws unknownFile (1) for a name that no upload has; failing steps throw it too
   */
  attach(
    schema: Schema,
    principal: Principal,
    files: readonly HeldFile[],
    granted: ResolvedFiles['granted'],
  ): readonly Mutation[];
  /**
   * Resolves the files of a write that failed with unknownFile. Records uploads that went straight to the file store.
   * @throws unknownFile (1) if a file cannot be attached
   */
  resolve(context: RecordContext, write: FileWrite): Promise<ResolvedFiles>;
}
