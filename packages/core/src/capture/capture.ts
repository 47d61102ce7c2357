/** Something about a capture that changes how its verdict is to be read. Constant texts and numbers, nothing of the request. */
export type CaptureNote = {
  readonly code:
    | 'longer_than_content_length'
    | 'shorter_than_content_length'
    | 'chunks_joined'
    | 'not_chunked'
    | 'encoded_body'
    | 'not_a_post'
  readonly text: string
}

/** One HTTP request as somebody kept it. */
export type Capture = {
  readonly kind: 'captured'
  readonly method: string
  /** As it stands in the request line: a path with its query, or a whole URL. */
  readonly target: string
  /** Lower-case name → every value in the order of the wire, as Latin-1: the way that Node hands them over. */
  readonly headers: ReadonlyMap<string, readonly string[]>
  /** What a receiver would have read. */
  readonly body: Buffer
  /** Everything after the head, where that is more than the body. */
  readonly everything: Buffer | null
  readonly notes: readonly CaptureNote[]
}

export type CaptureUnreadable = {
  readonly kind: 'unreadable'
  /** What is wrong with it, and how to write it instead. Shows nothing of what it holds. */
  readonly why: string
}
