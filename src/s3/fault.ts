/** Codes of network errors: of the operating system, TLS, the HTTP parser, and the client's own timeouts. */
const networkCodes = /^(?:E[A-Z]+(?:_[A-Z]+)*|ERR_(?:SSL|TLS|STREAM|SOCKET)_\w+|HPE_\w+|TimeoutError)$/;

/** An error from the store. Contains no file id, because knowing the id grants access to the file, and no part of a signature. */
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

  /** Whether the error is transient (store unreachable or overloaded), so that the same request may succeed later. */
  get isPassing(): boolean {
    if (this.status === undefined) return networkCodes.test(this.code);
    // A missing bucket may come back, so it does not mean that the files in it are gone.
    return this.status >= 500 || this.status === 408 || this.status === 429 || this.code === 'NoSuchBucket';
  }

  get isMissing(): boolean {
    return this.status === 404 && this.code !== 'NoSuchBucket';
  }

  /** Whether a conditional create failed because the object exists or another request is creating it. */
  get isTaken(): boolean {
    return this.status === 412 || this.code === 'ConditionalRequestConflict';
  }

  /** Whether the object has another version than requested, or is shorter than the requested range. */
  get isOtherVersion(): boolean {
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
  const reported = code ?? name ?? 'Error';
  return { code: reported, status: $metadata?.httpStatusCode, request: $metadata?.requestId };
}
