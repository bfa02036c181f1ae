/** Errors of the way to the store: those of the system, of TLS, of HTTP, and the client's own when it has waited long enough. */
const onTheWay = /^(?:E[A-Z]+(?:_[A-Z]+)*|ERR_(?:SSL|TLS|STREAM|SOCKET)_\w+|HPE_\w+|TimeoutError)$/;

/** What went wrong at the store. It holds no id of a file, since that opens the file, and nothing of a signature. */
export class S3Fault extends Error {
  /** The store's own code (`AccessDenied`), or that of the network (`ECONNREFUSED`). */
  readonly code: string;
  readonly status: number | undefined;

  constructor(operation: string, error: unknown) {
    const { code, status, request } = read(error);
    super(
      `S3 ${operation}: ${code}${status === undefined ? '' : ` (${status})`}${request === undefined ? '' : `, request ${request}`}`,
    );
    this.name = 'S3Fault';
    this.code = code;
    this.status = status;
  }

  /** Whether the store is away or busy: the same request may go well a moment later. */
  get isPassing(): boolean {
    if (this.status === undefined) return onTheWay.test(this.code);
    // A bucket that is missing may come back; files in it are not gone for that.
    return this.status >= 500 || this.status === 408 || this.status === 429 || this.code === 'NoSuchBucket';
  }

  /** Whether the store answered that there is no such object. */
  get isMissing(): boolean {
    return this.status === 404 && this.code !== 'NoSuchBucket';
  }

  /** Whether an object that is to be new is there, or is just being stored by another request. */
  get isTaken(): boolean {
    return this.status === 412 || this.code === 'ConditionalRequestConflict';
  }

  /** Whether the object has another version than the one that was asked for, or lacks the range that this one has. */
  get isAnother(): boolean {
    return this.status === 412 || this.status === 416;
  }
}

function read(error: unknown): { code: string; status: number | undefined; request: string | undefined } {
  const { name, code, $metadata } = error as {
    name?: string;
    code?: string;
    $metadata?: { httpStatusCode?: number; requestId?: string };
  };
  // Errors of the store have a name, those of the network a code.
  const told = code ?? name ?? 'Error';
  return { code: told, status: $metadata?.httpStatusCode, request: $metadata?.requestId };
}
