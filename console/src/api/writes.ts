import type { CreateRequest, RecordAnswer, SignedIn, UpdateRequest } from '../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../src/kernel/json.ts';
import { settings } from '../settings.ts';
import { apiAddress, call, noteBuild, request } from './client.ts';
import { ApiFailure, NoConnection } from './failure.ts';

export function signIn(appId: string, username: string, password: string): Promise<SignedIn> {
  return call(appId, 'POST', 'session', { body: { username, password }, tellsSignedOut: false });
}

export function signOut(appId: string): Promise<unknown> {
  return call(appId, 'DELETE', 'session', { tellsSignedOut: false });
}

/** Sets the language of later pages, which the server keeps in a cookie. */
export function chooseLanguage(language: 'he' | 'en'): Promise<unknown> {
  return request(`${settings.root}/-/api/language`, 'POST', { body: { language } });
}

export function changePassword(appId: string, oldPassword: string, newPassword: string): Promise<unknown> {
  return call(appId, 'PUT', 'me/password', { body: { oldPassword, newPassword } });
}

export function createRecord(appId: string, table: string, body: CreateRequest): Promise<RecordAnswer> {
  return call(appId, 'POST', `records/${encodeURIComponent(table)}`, { body });
}

export function updateRecord(appId: string, table: string, id: string, body: UpdateRequest): Promise<RecordAnswer> {
  return call(appId, 'PUT', `records/${encodeURIComponent(table)}/${encodeURIComponent(id)}`, { body });
}

export function deleteRecord(appId: string, table: string, id: string): Promise<unknown> {
  return call(appId, 'DELETE', `records/${encodeURIComponent(table)}/${encodeURIComponent(id)}`);
}

export interface Upload {
  /** The File value to store in the field. */
  readonly done: Promise<JsonObject>;
  cancel(): void;
}

/** Uploads a file with XMLHttpRequest, because `fetch` reports no upload progress. @param onProgress gets a share from 0 to 1. */
export function uploadFile(appId: string, table: string, field: string, file: File, onProgress: (share: number) => void): Upload {
  const sending = new XMLHttpRequest();
  const path = `files/${encodeURIComponent(table)}/${encodeURIComponent(field)}?name=${encodeURIComponent(file.name)}`;
  const done = new Promise<JsonObject>((resolve, reject) => {
    sending.open('POST', apiAddress(appId, path));
    sending.setRequestHeader('X-Console', '1');
    sending.setRequestHeader('Content-Type', file.type || 'application/octet-stream');
    sending.responseType = 'json';
    sending.upload.onprogress = (event) => {
      if (event.lengthComputable) onProgress(event.loaded / event.total);
    };
    sending.onload = () => {
      noteBuild(sending.getResponseHeader('X-Console-Build'));
      if (sending.status < 300 && sending.response) resolve({ __type: 'File', ...sending.response });
      else reject(new ApiFailure(sending.status, sending.response ?? {}));
    };
    sending.onerror = () => reject(new NoConnection('upload'));
    sending.onabort = () => reject(new DOMException('', 'AbortError'));
    sending.send(file);
  });
  return { done, cancel: () => sending.abort() };
}
