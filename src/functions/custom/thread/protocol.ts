import type { MessagePort } from 'node:worker_threads';
import type { ErrorKey } from '../../../errors/catalogue.ts';
import type { ServiceError } from '../../../errors/fail.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { FunctionRequest, FunctionTrigger, FunctionUser } from '../api/model.ts';
import type { FunctionRecord } from '../api/system.ts';
import type { FoundFile } from '../loading/directory.ts';
import type { FilesOfVersion } from '../loading/loader.ts';

/** Start data of a thread that runs functions. */
export interface ThreadSetup {
  readonly port: MessagePort;
  /** FUNCTIONS_DIR, absolute. */
  readonly directory: string;
  /** Time limit for loading a file, in milliseconds. */
  readonly timeLimit: number;
  /** The thread writes the number of the call that it began last here. */
  readonly begun: Int32Array;
}

/** What a call passes to the function; JSON, since its parts come from JSON. */
export interface GivenToCall {
  readonly appId: string;
  /** Display name of the system. */
  readonly systemName: string;
  readonly input: JsonObject;
  /** Whether the values of `input` are texts of a form or a query. */
  readonly isForm: boolean;
  readonly request: FunctionRequest | null;
  readonly record: FunctionRecord | null;
  readonly trigger: FunctionTrigger | null;
  readonly user: FunctionUser | null;
}

/** Messages to a thread. */
export type ToThread =
  | { readonly type: 'load'; readonly name: string; readonly file: FoundFile }
  | {
      readonly type: 'call';
      /** Greater than that of every earlier call. */
      readonly call: number;
      readonly name: string;
      /** JSON of `GivenToCall`. */
      readonly given: string;
      /** Headers that carry the present trace on; left out if there is none. */
      readonly trace?: Readonly<Record<string, string>>;
    }
  /** The call was given up: aborts its signal and closes its records. Answered by `alive`. */
  | { readonly type: 'abort'; readonly call: number; readonly key: GivenUp }
  /** The result of an operation as JSON; left out: `undefined`. */
  | { readonly type: 'answer'; readonly operation: number; readonly text?: string | undefined }
  | { readonly type: 'refusal'; readonly operation: number; readonly error: SentServiceError | null }
  /** Answered by `alive`. */
  | { readonly type: 'ping' };

/** Why a call is given up. */
export type GivenUp = 'functionTimeout' | 'unavailable' | 'outcomeUnknown';

/** Messages from a thread. */
export type FromThread =
  | {
      readonly type: 'loaded';
      readonly name: string;
      readonly files: FilesOfVersion;
      readonly result: { readonly described: DescribedFunction } | { readonly failure: SentError };
    }
  /** A file is imported; its code has not run yet. */
  | { readonly type: 'imported'; readonly path: string; readonly stamp: string }
  /** A function has imported more while it ran. */
  | { readonly type: 'files'; readonly name: string; readonly files: FilesOfVersion }
  | { readonly type: 'ended'; readonly call: number; readonly end: CallEnd }
  | { readonly type: 'operation'; readonly call: number; readonly operation: number; readonly request: OperationRequest }
  | { readonly type: 'log'; readonly line: ThreadLogLine }
  /** `process.exit` was called, by a call or by what one has left behind; `null`: by another part of a file. */
  | { readonly type: 'exiting'; readonly call: number | null }
  /** The thread receives messages. */
  | { readonly type: 'alive' };

/** A loaded function, as it is described outside of its thread. */
export interface DescribedFunction {
  /** Application ids of the systems that may call it; `null` for all. */
  readonly systems: readonly string[] | null;
  readonly inputSchema?: JsonObject | undefined;
}

/** How a call ended. */
export type CallEnd =
  /** It returned: the result as JSON. */
  | { readonly kind: 'result'; readonly text: string }
  /** Its input was refused: the reasons. */
  | { readonly kind: 'refused'; readonly message: string }
  /** It let a transient storage error through. */
  | { readonly kind: 'passing'; readonly key: 'unavailable' | 'outcomeUnknown' }
  /** It threw: the message for the caller. */
  | { readonly kind: 'failed'; readonly message: string; readonly logged: SentError };

/** An operation on records, with its arguments converted: values are JSON texts, which the receiver checks as it checks a request. */
export type OperationRequest =
  | { readonly method: 'get'; readonly table: string; readonly objectId: string; readonly options: SentOptions }
  | { readonly method: 'find' | 'count'; readonly table: string; readonly options: SentOptions }
  | { readonly method: 'aggregate'; readonly table: string; readonly pipeline: string }
  | { readonly method: 'create'; readonly table: string; readonly fields: string; readonly ownFiles: OwnFileNames }
  | { readonly method: 'createAll'; readonly records: readonly SentRecord[]; readonly ownFiles: OwnFileNames }
  | {
      readonly method: 'update';
      readonly table: string;
      readonly objectId: string;
      readonly fields: string;
      readonly ownFiles: OwnFileNames;
    }
  | { readonly method: 'delete'; readonly table: string; readonly objectId: string }
  | { readonly method: 'config'; readonly name: string }
  | { readonly method: 'schema'; readonly table: string };

/** Options by name, each as JSON text. */
export type SentOptions = readonly (readonly [name: string, value: string])[];

/** Names of files among the fields that the function received from the service. */
export type OwnFileNames = readonly string[];

export interface SentRecord {
  readonly table: string;
  readonly fields: string;
}

/** A line for the log of the service. */
export interface ThreadLogLine {
  readonly level: 'info' | 'error';
  /** The function that it is about; `undefined` if that is unknown. */
  readonly who: { readonly system?: string | undefined; readonly function: string } | undefined;
  readonly text: string;
  readonly error?: SentError | undefined;
  /** Set if it is a line that was printed. */
  readonly output?: 'stdout' | 'stderr';
}

/** An error of the catalogue. */
export interface SentServiceError {
  readonly key: ErrorKey;
  readonly text: string;
  readonly details: JsonObject | undefined;
  readonly item: number | undefined;
}

/** Returns an error of the catalogue as it is sent. */
export const sentServiceError = ({ key, message, details, item }: ServiceError): SentServiceError => ({
  key,
  text: message,
  details,
  item,
});

/** An error for the log. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | number | undefined;
  readonly cause: SentError | undefined;
}

/** Converts an error that `failureOf` has made: cloning would lose its code. */
export function sentError(error: Error): SentError {
  const { name, message, stack, cause } = error;
  const { code } = error as { readonly code?: string | number };
  return { name, message, stack, code, cause: cause instanceof Error ? sentError(cause) : undefined };
}

/** Returns the error again. */
export function receivedError({ name, message, stack, code, cause }: SentError): Error {
  const error = Object.assign(new Error(message), { name, stack }, code !== undefined && { code });
  if (cause) error.cause = receivedError(cause);
  return error;
}
