import type { JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';

/** A file that a record is to hold. */
export interface HeldFile {
  /** As the upload answered it. */
  readonly name: string;
  /** Of the field. */
  readonly type: 'File' | 'PrivateFile';
}

/** A write of one record, before it is planned. */
export interface FileWrite {
  readonly className: string;
  readonly objectId: string;
  /** What the client sent, without flags. */
  readonly fields: JsonObject;
}

/** Who knows the stored files. `app.ts` hands it to the records, which know nobody above them. SPEC "Files" rule 5. */
export interface FileKeeper {
  /**
   * Looks at the files that a body names before the write is planned: uploads that went past the service are noted, and a private file is
   * for who may read it. At once where the body names none, so that writes keep the order in which they came.
   * @throws unknownFile (1)
   */
  prepare(context: RecordContext, write: FileWrite): undefined | Promise<void>;
  /**
   * Steps of the record's own commit, before the record's, which fail where a file is not there. Pure.
   * @throws unknownFile (1) for a name that no upload has; the steps fail with it too
   */
  attach(schema: Schema, files: readonly HeldFile[]): readonly Mutation[];
}
