/** The settings that the server writes into the page: `<meta name="console" content="{…}">`. */
export interface Settings {
  readonly language: 'he' | 'en';
  /** The console's path without a slash at the end: `/console`, or `/crm/console` if the service is served below a path. */
  readonly root: string;
  /** The system that sign-in starts with: the server's only one, or `null` if there are several. */
  readonly defaultAppId: string | null;
  /** The nonce of React Aria's style elements. */
  readonly nonce: string;
  /** Differs between builds. A page of an old build on a newer server asks the user to reload. */
  readonly build: string;
}

export const settings: Settings = JSON.parse(
  globalThis.document?.querySelector<HTMLMetaElement>('meta[name=console]')?.content ??
    '{"language":"en","root":"/console","defaultAppId":null,"nonce":"","build":""}',
);
