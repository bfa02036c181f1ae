import type { Principal } from '../../access/index.ts';
import type { JsonValue } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from './context.ts';

/** A file that a record is to hold. */
export interface HeldFile {
  /** As the upload answered it. */
  readonly name: string;
  /** Of the field. */
  readonly type: 'File' | 'PrivateFile';
}

/** A File object of a body. */
export interface NamedFile {
  readonly field: string;
  /** What the client sent for its name. */
  readonly name: string;
  /** What the client sent for its address; may be anything. */
  readonly url: JsonValue | undefined;
}

/** A write of one record that names files. */
export interface FileWrite {
  readonly className: string;
  readonly objectId: string;
  /** One at least. */
  readonly files: readonly NamedFile[];
}

/** What was found out about the files of a write that its commit did not take as they were. */
export interface SettledFiles {
  /** Fields to be left as they are: they hold the file already, which is deleted or not the caller's to attach. Clients send whole forms. */
  readonly kept: ReadonlySet<string>;
  /** Names of private files that the caller may attach, since he may read them. */
  readonly granted: ReadonlySet<string>;
}

/** Who knows the stored files. `app.ts` hands it to the records, which know nobody above them. SPEC "Files" rule 5. */
export interface FileKeeper {
  /**
   * Steps of the record's own commit, after the record's, so that who may not write it learns nothing of files. They fail where a file is not
   * there, or is private and nothing says that the caller may attach it. Pure.
   * @param files one at least
   * @param granted of `SettledFiles`
   * @throws unknownFile (1) for a name that no upload has; the steps fail with it too
   */
  attach(schema: Schema, principal: Principal, files: readonly HeldFile[], granted: SettledFiles['granted']): readonly Mutation[];
  /**
   * Finds out about the files of a write that failed with unknownFile: uploads that came past the service are noted then.
   * @throws unknownFile (1) where nothing helps
   */
  settle(context: RecordContext, write: FileWrite): Promise<SettledFiles>;
}
