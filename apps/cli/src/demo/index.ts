export { type Demo, openDemo, scenesOf } from './open-demo.js'
export type { SceneResult } from './story/play-story.js'
export type { Scene } from './story/scene.js'
